import { findProgram } from './find-program.ts'
import { requireProgram } from './require-program.ts'

/** Any of these will do. GitHub's machines have Chrome, Debian has packages of the others. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'google-chrome']

/** The path of a browser of the Chromium family, installed where it is missing and this user may do so. */
export function requireBrowser(): string {
  const found = BROWSERS.map(findProgram).find(path => path !== undefined)
  return found ?? requireProgram('chromium-headless-shell')
}
