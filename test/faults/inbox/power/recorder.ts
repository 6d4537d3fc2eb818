import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireCompiler } from '../../../support/require-compiler.ts'

/** A process's call on a file in the folder, recorded by `recorder.c`. */
export interface Call {
  readonly kind: 'made' | 'deleted' | 'cut' | 'wrote' | 'syncing' | 'synced'
  /** Name of the file in the folder; `.` is the folder itself. */
  readonly name: string
  /** Position of the write, or the length after truncation. */
  readonly offset: number
  readonly length: number
  /** Identifies a thread's call, to match `syncing` and `synced`. */
  readonly who: string
  /** Written bytes. Empty in an outline. */
  readonly bytes: Uint8Array
}

/** Records what processes started with `env` do to the files in `folder`. */
export interface Recorder {
  readonly env: Readonly<Record<string, string>>
  /** Returns all calls until now, in order of occurrence. */
  calls(parts?: { readonly outline: boolean }): Generator<Call>
}

/** Compiles a recorder. Keeps the log and the library in `beside`. */
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

/** Reads the log piece by piece: that of a full run exceeds the largest possible buffer. */
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
