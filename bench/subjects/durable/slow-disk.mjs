import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from '../../lib/engines.mjs'
import { geometricInterval } from '../../lib/interval.mjs'
import { median } from '../../lib/rounds.mjs'
import { showNumber } from '../../lib/table.mjs'

const TITLE = '### SQLite on a slow disk'
const path = file => fileURLToPath(new URL(file, import.meta.url))

/** Simulates a disk that takes 2 ms for each fsync, with a preloaded library. Needs Linux and a C compiler. */
export function measureSlowDisk() {
  const folder = scratchFolder()
  try {
    const library = join(folder.path, 'slow-fsync.so')
    try {
      execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, path('slow-fsync.c')], {
        stdio: 'ignore',
      })
    } catch {
      return { markdown: `${TITLE}\n\nNot measured: it needs Linux and a C compiler.`, figures: {} }
    }
    const answer = execFileSync(
      process.execPath,
      [path('slow-disk-child.mjs'), join(folder.path, 'slow.db')],
      {
        env: { ...process.env, LD_PRELOAD: library },
        encoding: 'utf8',
      },
    )
    const { perSecond, p99Ms, fsyncMs } = JSON.parse(answer)
    return {
      markdown: `${TITLE}\n\nEach fsync takes at least 2 ms (a bare one in the same process: ${fsyncMs.toFixed(2)} ms). 64 in flight: ${showNumber(median(perSecond))} events/s, p99 ${showNumber(median(p99Ms))} ms.`,
      figures: {
        perSecond: geometricInterval(perSecond),
      },
    }
  } finally {
    folder.remove()
  }
}
