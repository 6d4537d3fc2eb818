/**
 * Adds a missing trailing slash to the browser's own address, whatever proxies are in between. The page's relative links
 * to its files and API need it.
 */
export const SLASH_SCRIPT =
  "if(!location.pathname.endsWith('/')){const u=new URL(location.href);u.pathname+='/';location.replace(u.href)}"
/** Hash of {@link SLASH_SCRIPT}, which a test verifies. */
const SLASH_SCRIPT_HASH = 'Xt5JEHsVDVbFtiFSwFAeJgiPGhM5EFJqOpxNHJiwtSw='

/** Headers of every reply. The page loads nothing from other sites, runs only its own scripts, and cannot be framed. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; script-src 'self' 'sha256-${SLASH_SCRIPT_HASH}'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
