import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireCompiler } from '../../../support/require-compiler.ts'

/** What a process did to a file of the folder, as `recorder.c` tells it. */
export interface Call {
  readonly kind: 'made' | 'deleted' | 'cut' | 'wrote' | 'syncing' | 'synced'
  /** Of the file in the folder; `.` is the folder itself. */
  readonly name: string
  /** Where it was written to, or the length it was cut to. */
  readonly offset: number
  readonly length: number
  /** Which call of a thread this is, for `syncing` and `synced`. */
  readonly who: string
  /** What was written. Empty where only an outline was asked for. */
  readonly bytes: Uint8Array
}

/** Watches what the processes that are started with `env` do to the files of `folder`. */
export interface Recorder {
  readonly env: Readonly<Record<string, string>>
  /** All calls until now, in the order in which they happened. */
  calls(parts?: { readonly outline: boolean }): Generator<Call>
}

/** Compiles one. The log and the library are kept in `beside`. */
export function createRecorder(folder: string, beside: string): Recorder {
  const library = join(beside, 'recorder.so')
  const log = join(beside, 'calls.log')
  const [compiler, ...args] = requireCompiler()
  execFileSync(compiler, [...args, '-w', '-shared', '-fPIC', '-nostdlib', '-o', library, SOURCE])
  return {
    env: { LD_PRELOAD: library, POWER_FOLDER: folder, POWER_LOG: log },
    calls: ({ outline } = { outline: false }) => read(log, outline),
  }
}

const SOURCE = fileURLToPath(new URL('recorder.c', import.meta.url))

const KINDS: Readonly<Record<string, Call['kind']>> = {
  c: 'made',
  u: 'deleted',
  t: 'cut',
  w: 'wrote',
  b: 'syncing',
  e: 'synced',
}

const LONGEST_LINE = 512
const NEWLINE = 10

/** Piece by piece: the log of a full run is larger than what a buffer can be. */
function* read(log: string, outline: boolean): Generator<Call> {
  const file = openSync(log, 'r')
  try {
    const head = new Uint8Array(LONGEST_LINE)
    for (let at = 0; ; ) {
      const got = readSync(file, head, 0, LONGEST_LINE, at)
      if (got === 0) return
      const end = head.subarray(0, got).indexOf(NEWLINE)
      const [letter = '', offset, count, who = '', name] = Buffer.from(head.subarray(0, end))
        .toString()
        .split(' ')
      const kind = KINDS[letter]
      if (end < 0 || kind === undefined || name === undefined) throw new Error(`no call at ${at} of ${log}`)
      const length = Number(count)
      const bytes = new Uint8Array(outline ? 0 : length)
      if (!outline && length > 0) readSync(file, bytes, 0, length, at + end + 1)
      yield { kind, name, offset: Number(offset), length, who, bytes }
      at += end + 1 + length
    }
  } finally {
    closeSync(file)
  }
}
