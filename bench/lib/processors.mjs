import { execFileSync } from 'node:child_process'

/**
 * Pins this process, which is the load, to one processor. Returns a function that pins a server to another one, and a note
 * for the report. Without `taskset`, or with a single processor, nothing is pinned.
 */
export function separateProcessors() {
  const [forServers, forLoad] = allowedProcessors()
  if (forLoad === undefined) {
    return { pin: start => start, note: 'Not pinned: that needs taskset and two processors.' }
  }
  taskset('-a', '-c', '-p', forLoad, process.pid)
  return {
    pin: ({ execPath = process.execPath, execArgv = [], ...start }) => ({
      ...start,
      execPath: 'taskset',
      execArgv: ['-c', forServers, execPath, ...execArgv],
    }),
    note: `Servers on processor ${forServers}, load on processor ${forLoad}.`,
  }
}

/** Returns the numbers of the processors that this process may use: `0-2,5` means four. */
function allowedProcessors() {
  const list = taskset('-c', '-p', process.pid)?.split(':').at(-1).trim()
  return (list?.split(',') ?? []).flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i))
  })
}

function taskset(...words) {
  try {
    return execFileSync('taskset', words.map(String), {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return undefined
  }
}
