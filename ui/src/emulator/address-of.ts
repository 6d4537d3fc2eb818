/** Where the emulator's own API is, seen from the page. */
const ROOT = '_emulator/v1/'

/** The address of something to ask for, open or download. */
export function addressOf(path: string): string {
  return ROOT + path
}
