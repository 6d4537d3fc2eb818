import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Source } from './elements.tsx'
import { Ago } from './now.tsx'
import { Sparkline } from './sparkline.tsx'
import { formatCount } from './text.ts'

interface ErrorCardProps {
  /** The error, as one line. */
  readonly title: string
  /** Link to everything that failed with it. */
  readonly href: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** The time now. Default: this machine's. */
  readonly from?: ReadonlySignal<number> | undefined
  /** What failed: one type, or a link to the last one. */
  readonly children: ComponentChildren
  readonly stack?: string | undefined
  /** Numbers over time, oldest first. */
  readonly spark?: readonly number[] | undefined
  /** What `spark` shows, if that is not all of them. */
  readonly sparkNote?: string | undefined
  /** Buttons for exactly these. */
  readonly actions?: ComponentChildren
}

/** Shows one kind of failure: how often, since when, what, and where in the code. */
export function ErrorCard({
  title,
  href,
  count,
  firstAt,
  lastAt,
  from,
  children,
  stack,
  spark,
  sparkNote,
  actions,
}: ErrorCardProps) {
  const clock = from === undefined ? {} : { from }
  return (
    <article class="panel error-card">
      <div class="bar top">
        <h3>
          <a class="mono" href={href}>
            {title}
          </a>
        </h3>
        <b class="push count">× {formatCount(count)}</b>
      </div>
      <div class="small quiet">{children}</div>
      <dl class="facts small">
        <dt>{count === 1 ? 'Failed' : 'Last failed'}</dt>
        <dd>
          <Ago at={lastAt} {...clock} />
        </dd>
        {count > 1 && <dt>First failed</dt>}
        {count > 1 && (
          <dd>
            <Ago at={firstAt} {...clock} />
          </dd>
        )}
      </dl>
      {spark !== undefined && <Sparkline label={`${sparkNote ?? count} over time`} values={spark} />}
      {spark !== undefined && sparkNote !== undefined && <p class="small quiet">{sparkNote}</p>}
      {stack !== undefined && (
        <details>
          <summary>Stack</summary>
          <Source label={`Stack of ${title}`} text={stack} />
        </details>
      )}
      {actions !== undefined && <div class="bar">{actions}</div>}
    </article>
  )
}
