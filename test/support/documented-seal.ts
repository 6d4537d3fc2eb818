import { mkdirSync, writeFileSync } from 'node:fs'
import { readmeBlocks } from './readme-blocks.ts'
import { ROOT } from './workspace-packages.ts'

export interface Seal {
  seal(bytes: Uint8Array): Uint8Array
  open(sealed: Uint8Array): Uint8Array
}

/**
 * Cases of when and where an event runs: of a sealed inbox, only the fault run has them, since the same inbox passes them
 * unsealed. One crash remains, after which another process opens what the first has sealed.
 */
export const NOT_OF_BODIES =
  /^(?!crash-accepted)(activity|crash|drain|durable|fair|order|pause|reopen-order|retention|room|shared|skew|take)/

const FOLDER = `${ROOT}test/.documented`
export const KEYS: Readonly<Record<'old' | 'new', string>> = {
  old: `2026:${Buffer.alloc(32, 1).toString('base64')}`,
  new: `2027:${Buffer.alloc(32, 2).toString('base64')}`,
}

/** Writes the functions that docs/run/privacy.md prints into a module of their own. Returns its path. */
export function documentedSeal(): string {
  const [block] = readmeBlocks('docs/run/privacy.md', 'seal')
  mkdirSync(FOLDER, { recursive: true })
  const path = `${FOLDER}/seal-${process.pid}.mjs`
  writeFileSync(path, block?.text ?? '')
  return path
}

let loaded = 0

/** Loads them with these keys, the first of which seals. */
export async function loadSeal(keys: string): Promise<Seal> {
  process.env['SEAL_KEYS'] = keys
  return (await import(/* @vite-ignore */ `file://${documentedSeal()}?${loaded++}`)) as Seal
}
