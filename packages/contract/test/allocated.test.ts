import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Enough that nothing is collected during the measurement. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128']
const script = fileURLToPath(new URL('allocated.mjs', import.meta.url))

// A process for each: a second receiver in one runs other machine code.
async function bytesWith(tool: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, script, tool])
  return Number(stdout)
}

it.each(['record', 'drift'])(
  'a delivery that is no news allocates at most 500 bytes more: %s',
  async tool => {
    const [none, more] = [await bytesWith('none'), await bytesWith(tool)]
    expect(none).toBeGreaterThan(100)
    expect(more - none).toBeLessThanOrEqual(500)
  },
)
