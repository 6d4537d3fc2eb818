/** Environment variables that identify hosts which freeze a process after its reply. */
const HOSTS: Readonly<Record<string, string>> = {
  AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda',
  NETLIFY: 'Netlify',
  VERCEL: 'Vercel',
  K_SERVICE: 'Cloud Run',
}

/**
 * Returns the name of this process's host, if it freezes processes after their reply. Skips Deno, which would ask its
 * user for a permission.
 */
export function freezingHost(): string | undefined {
  if ('Deno' in globalThis) return undefined
  const variable = Object.keys(HOSTS).find(name => process.env[name] !== undefined)
  return variable === undefined ? undefined : HOSTS[variable]
}
