import type { Here, LiveProcess } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { Badge } from '../kit/elements.tsx'
import { Ago, spanOf } from '../kit/now.tsx'
import { formatCount, inOneLine, visible } from '../kit/text.ts'

export function Processes({ processes }: { readonly processes: readonly LiveProcess[] }) {
  return (
    <section class="panel" id="panel-processes" tabIndex={-1} aria-labelledby="processes">
      <h2 id="processes">Processes using this inbox</h2>
      {processes.length === 0 && <p class="quiet">None at the moment.</p>}
      {processes.map(one => (
        <LiveProcessLine key={one.id} process={one} />
      ))}
    </section>
  )
}

const SILENT_MS = 30_000

function LiveProcessLine({ process }: { readonly process: LiveProcess }) {
  const { id, process: name, version, startedAt, patterns, onUnhandled, seenMs } = process
  const handles = [...patterns, ...(onUnhandled ? ['anything else'] : [])]
  return (
    <div>
      <div class="bar">
        <span class="mono">{visible(name === '' ? id : name)}</span>
        {seenMs > SILENT_MS ? (
          <Badge tone="wait">silent for {spanOf(seenMs)}</Badge>
        ) : (
          <Badge tone="good">live</Badge>
        )}
        <span class="push small quiet">
          {version}, started <Ago at={startedAt} />
        </span>
      </div>
      <div class="small">
        {handles.length === 0 ? 'no handlers' : handles.map(one => visible(one)).join(', ')}
      </div>
    </div>
  )
}

export function Refusals({ here }: { readonly here: Here }) {
  return (
    <section class="panel" id="panel-refusals" tabIndex={-1} aria-labelledby="refusals">
      <h2 id="refusals">Refused by this process</h2>
      {here.refusals.length === 0 && <p class="quiet">No requests refused since it started.</p>}
      <ul class="timeline">
        {here.refusals.map(({ code, status, count, lastAt, detail }) => (
          <li key={code} class={status >= 500 ? 'bad' : 'wait'}>
            <span class="mono">
              {status} {code}
            </span>{' '}
            × {formatCount(count)}{' '}
            <span class="quiet small">
              last <Ago at={lastAt} />
            </span>
            {detail !== undefined && <div class="small quiet">{inOneLine(detail)}</div>}
          </li>
        ))}
      </ul>
    </section>
  )
}
