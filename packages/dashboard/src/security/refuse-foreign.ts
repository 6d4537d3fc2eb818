/**
 * Why a call of the API must not be answered, or `undefined`. A page of another site can make a browser send requests
 * with the cookies of this one; browsers say so in `Sec-Fetch-Site` or, where that is missing, in `Origin`.
 */
export function refuseForeign(request: Request): string | undefined {
  const site = request.headers.get('sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') return 'This was sent by a page of another site.'
  if (site !== null || request.method === 'GET' || request.method === 'HEAD') return undefined
  const origin = request.headers.get('origin')
  if (origin !== null) return isOwn(origin, request) ? undefined : 'This was sent by a page of another site.'
  // No browser, then: a form could send neither of these without asking first.
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '')
  if (isJson && request.headers.get('x-ackhook') === '1') return undefined
  return "Send 'content-type: application/json' and 'x-ackhook: 1'."
}

function isOwn(origin: string, request: Request): boolean {
  const host = request.headers.get('host') ?? new URL(request.url).host
  return URL.canParse(origin) && new URL(origin).host === host
}
