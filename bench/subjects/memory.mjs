import { compareRounds } from '../lib/comparison.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

const CHILD = new URL('memory/ids-child.mjs', import.meta.url)
const OURS = 'memoryStore: claim and complete'
const FULL = 'the same for as many again'
const SET = 'Set: has and add'

/** Measures the cost of a remembered id. Each round is a new process. */
export async function measureMemory({ quick }) {
  const found = await compareRounds(() => measureInProcess(CHILD), {
    quick,
    ...{ fewest: 5, most: 12, seconds: 60 },
    decides: [['ns', OURS, SET]],
  })
  const rows = [OURS, FULL, SET].map(name => [
    name,
    Math.round(found.middleOf('bytes', name)),
    showNumber(found.middleOf('ns', name)),
    name === SET ? '1' : showRatio(found.ratioOf('ns', name, SET)),
  ])
  return {
    markdown: `## Ids in memory\n\nAt 1,000,000 ids of 22 characters, their text included. Processor time. The second million pushes the first one out.\n\n${table(['', 'bytes per id', 'ns per id', '÷ Set'], rows)}`,
    figures: { ids: { bytes: found.intervalOf('bytes', FULL), ns: found.intervalOf('ns', FULL) } },
  }
}
