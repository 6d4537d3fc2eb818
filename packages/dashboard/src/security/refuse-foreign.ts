/** Why a call of the API must not be answered. */
export interface ForeignCall {
  readonly message: string
  /** The host that a page of this dashboard would have been loaded from, and the one that sent this. */
  readonly hosts?: { readonly expected: string; readonly sent: string }
}

const FOREIGN = 'This was sent by a page of another site.'
const BEHIND_PROXY = `${FOREIGN} If it was not, a proxy changes the host: your app's log has the expected host.`

/**
 * Why a call of the API must not be answered, or `undefined`. A page of another site can make a browser send requests
 * with the cookies of this one; browsers say so in `Sec-Fetch-Site` or, where that is missing, in `Origin`. With
 * `trustsProxy`, the host is the one in `X-Forwarded-Host`.
 */
export function refuseForeign(request: Request, trustsProxy: boolean): ForeignCall | undefined {
  const site = request.headers.get('sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') return { message: FOREIGN }
  if (site !== null || request.method === 'GET' || request.method === 'HEAD') return undefined
  const origin = request.headers.get('origin')
  if (origin !== null) return compare(origin, hostOf(request, trustsProxy))
  // No browser, then: a form could send neither of these without asking first.
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '')
  if (isJson && request.headers.get('x-ackhook') === '1') return undefined
  return { message: "Send 'content-type: application/json' and 'x-ackhook: 1'." }
}

/** Both as URLs have them: in lower case, and without the port that goes without saying. */
function compare(origin: string, host: string): ForeignCall | undefined {
  if (!URL.canParse(origin)) return { message: FOREIGN }
  const { protocol, host: sent } = new URL(origin)
  const address = `${protocol}//${host}`
  const expected = URL.canParse(address) ? new URL(address).host : ''
  return sent !== '' && sent === expected ? undefined : { message: BEHIND_PROXY, hosts: { expected, sent } }
}

/** The host that the browser asked for. */
export function hostOf(request: Request, trustsProxy: boolean): string {
  // The first one is that of the proxy which the browser asked.
  const forwarded = trustsProxy ? request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() : undefined
  return forwarded || (request.headers.get('host') ?? new URL(request.url).host)
}
