import { readFile } from 'node:fs/promises'
import type { SignedRequest } from '@ackhook/testing'

const PAGE = new URL('../../docs/getting-started/testing-your-handlers.md', import.meta.url)

/** Makes a client's call as the page about tests prints it. `names` are what the call uses beside `request`. */
export async function callAsPrinted(
  client: string,
  request: SignedRequest,
  names: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const page = await readFile(PAGE, 'utf8')
  const row = page.split('\n').find(line => line.startsWith(`| ${client} |`))
  const call = /\| `([^|]+)` \|$/.exec(row ?? '')?.[1]
  if (call === undefined) throw new Error(`The page has no call for ${client}.`)
  return new Function('request', ...Object.keys(names), `return ${call}`)(request, ...Object.values(names))
}

/** Returns the status of any client's response. */
export function statusOf(response: unknown): number | undefined {
  const { status, statusCode } = response as { status?: number; statusCode?: number }
  return statusCode ?? status
}
