import { duet, WARM_UP_CPU_S } from '../lib/duet.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const HAND_WRITTEN = 'hand-written'
const FEW_IDS = 'hand-written, few ids'
const SAME_REPLY = 'hand-written, same reply'
const OURS = 'ackhook'
const OTHERS = [HAND_WRITTEN, FEW_IDS, SAME_REPLY]
const NAMES = [...OTHERS, OURS]
const BODY_BYTES = 300
/** Seconds of processor time. `http` measures at the first. */
const AGES = [WARM_UP_CPU_S, 10, 20]
const HEAD = [
  'requests, hand-written',
  'by ackhook',
  ...NAMES.map(name => `${name}, µs`),
  ...OTHERS.map(name => `${name} ÷ ours`),
]
const ABOUT = `Processor time for a request of ${BODY_BYTES} bytes on bare \`node:http\`, measured as under "HTTP" and then again in the same processes, which have answered so many requests by then and remember their ids. "${FEW_IDS}" forgets all but the last few thousand. "${SAME_REPLY}" answers 202 and the JSON that ackhook answers, in the same way, where "${HAND_WRITTEN}" answers 204 with nothing.`

/** What two things do to the ratio to a hand-written receiver: the ids that pile up in both, and the reply. */
export async function measureAge({ quick }) {
  const ages = quick ? AGES.slice(0, 1) : AGES
  const comparison = await duet(NAMES, {
    quick,
    seconds: 360,
    ages,
    decides: ages.flatMap(age => OTHERS.map(name => [`cpuUs@${age}`, name, OURS])),
    serverOf: name => ['node-http', name],
    requestOf: () => ({ body: eventBody(BODY_BYTES) }),
  })
  const rows = ages.map(age => [
    ...[HAND_WRITTEN, OURS].map(name => showNumber(comparison.middleOf(`answered@${age}`, name))),
    ...NAMES.map(name => showNumber(comparison.middleOf(`cpuUs@${age}`, name))),
    ...OTHERS.map(name => showDecided(comparison.ratioOf(`cpuUs@${age}`, name, OURS))),
  ])
  return {
    markdown: ['## A receiver that has worked for a while', ABOUT, table(HEAD, rows)].join('\n\n'),
    figures: {},
  }
}
