/** Variables by which hosts that freeze a process after its reply can be told. */
const HOSTS: Readonly<Record<string, string>> = {
  AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda',
  NETLIFY: 'Netlify',
  VERCEL: 'Vercel',
  K_SERVICE: 'Cloud Run',
}

/** The host this process runs on, if it freezes processes after their reply. Deno would ask its user for a permission. */
export function freezingHost(): string | undefined {
  if ('Deno' in globalThis) return undefined
  const variable = Object.keys(HOSTS).find(name => process.env[name] !== undefined)
  return variable === undefined ? undefined : HOSTS[variable]
}
