import { findProgram } from './find-program.ts'
import { requireProgram } from './require-program.ts'

/** Usable browsers. GitHub's machines have Chrome; Debian has packages of the others. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'google-chrome']

/** Returns the path of a Chromium browser. Installs one if it is missing and this user may do so. */
export function requireBrowser(): string {
  const found = BROWSERS.map(findProgram).find(path => path !== undefined)
  return found ?? requireProgram('chromium-headless-shell')
}
