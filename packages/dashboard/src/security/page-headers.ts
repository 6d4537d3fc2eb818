/**
 * Adds a missing slash to the address that the browser has, in front of whatever proxies. With it the page finds its
 * files and its API beside itself.
 */
export const SLASH_SCRIPT =
  "if(!location.pathname.endsWith('/')){const u=new URL(location.href);u.pathname+='/';location.replace(u.href)}"
/** Hash of {@link SLASH_SCRIPT}: a test computes it. */
const SLASH_SCRIPT_HASH = 'Xt5JEHsVDVbFtiFSwFAeJgiPGhM5EFJqOpxNHJiwtSw='

/** Headers of every reply. Nothing from elsewhere is loaded, no script but the page's own runs, and no site may frame it. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; script-src 'self' 'sha256-${SLASH_SCRIPT_HASH}'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
