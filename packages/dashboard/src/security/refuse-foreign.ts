/** Reason to refuse an API call. */
export interface ForeignCall {
  readonly message: string
  /** The host of the dashboard's own pages, and the host of the page that sent the call. */
  readonly hosts?: { readonly expected: string; readonly sent: string }
}

const FOREIGN = 'This call came from a page on another site.'
const BEHIND_PROXY = `${FOREIGN} If it did not, a proxy changes the host: your app's log has the expected host.`

/**
 * Returns the reason to refuse an API call, or `undefined`. A page on another site can make a browser send requests with
 * this site's cookies; browsers reveal that in `Sec-Fetch-Site` or, if that is missing, in `Origin`. With `trustsProxy`,
 * the host is the one in `X-Forwarded-Host`.
 */
export function refuseForeign(request: Request, trustsProxy: boolean): ForeignCall | undefined {
  const site = request.headers.get('sec-fetch-site')
  if (site === 'cross-site' || site === 'same-site') return { message: FOREIGN }
  if (site !== null || request.method === 'GET' || request.method === 'HEAD') return undefined
  const origin = request.headers.get('origin')
  if (origin !== null) return compare(origin, hostOf(request, trustsProxy))
  // Accepts clients without a browser: a form cannot send either of these, and a script only after a preflight.
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '')
  if (isJson && request.headers.get('x-ackhook') === '1') return undefined
  return { message: "Send 'content-type: application/json' and 'x-ackhook: 1'." }
}

/** Compares both hosts as normalized by URL: in lower case and without a default port. */
function compare(origin: string, host: string): ForeignCall | undefined {
  if (!URL.canParse(origin)) return { message: FOREIGN }
  const { protocol, host: sent } = new URL(origin)
  const address = `${protocol}//${host}`
  const expected = URL.canParse(address) ? new URL(address).host : ''
  return sent !== '' && sent === expected ? undefined : { message: BEHIND_PROXY, hosts: { expected, sent } }
}

/** Returns the host that the browser requested. */
export function hostOf(request: Request, trustsProxy: boolean): string {
  // The first host comes from the outermost proxy, which the browser called.
  const forwarded = trustsProxy ? request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() : undefined
  return forwarded || (request.headers.get('host') ?? new URL(request.url).host)
}
