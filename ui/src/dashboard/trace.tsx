import { CopyButton } from '../kit/elements.tsx'

interface TraceProps {
  readonly id: string
  /** Address of a trace in the tracing tool, with `{traceId}`. */
  readonly url: string | undefined
}

/** A trace's id to copy, and a link to the trace if the tracing tool's address is known. */
export function Trace({ id, url }: TraceProps) {
  return (
    <span class="bar">
      {url === undefined ? (
        <span class="mono">{id}</span>
      ) : (
        <a class="mono" href={url.replaceAll('{traceId}', id)}>
          {id}
        </a>
      )}
      <CopyButton label="Copy trace id" text={() => id} />
    </span>
  )
}

/** The trace of the one event that a page shows. */
export function TraceFact(trace: TraceProps) {
  return (
    <dl class="facts">
      <dt>Trace</dt>
      <dd>
        <Trace {...trace} />
      </dd>
    </dl>
  )
}
