import type { ComponentChildren } from 'preact'
import type {
  ActivityFigures,
  ActivityReport,
  Figures as FiguresOf,
  Overview,
  Percentiles,
  Place,
  Stats,
  Verdict as VerdictOf,
  Window,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { spanOf } from '../kit/now.tsx'
import { hrefOf, route } from '../kit/route.ts'
import { formatCount, inOneLine, visible } from '../kit/text.ts'

const WINDOWS: Readonly<Record<Window, string>> = { '1h': '1 h', '24h': '24 h', '7d': '7 d' }
const NAMES = Object.keys(WINDOWS) as readonly Window[]
/** Share of failed attempts from which the verdict calls a type failing. */
const FAILING_SHARE = 0.1

/** The window that the address names. */
export function windowHere(): Window {
  const text = route.value.query.get('window') ?? ''
  return NAMES.find(name => name === text) ?? '1h'
}

export function WindowTabs() {
  const here = windowHere()
  return (
    <nav class="tabs" aria-label="Time">
      {NAMES.map(name => (
        <a
          key={name}
          href={hrefOf(['overview'], { window: name === '1h' ? '' : name })}
          aria-current={name === here ? 'page' : undefined}
        >
          {WINDOWS[name]}
        </a>
      ))}
    </nav>
  )
}

type States = Overview['browsing']['states']

/** Says in one sentence whether all is well, why not, and where to look. */
export function Verdict({
  verdict,
  states,
}: {
  readonly verdict: VerdictOf | undefined
  readonly states: States
}) {
  if (verdict === undefined) return <p class="verdict idle quiet">Looking …</p>
  const { tone, sentence, cause, where } = verdict
  return (
    <div class={`verdict ${tone}`} role="status">
      <p class="sentence">{inOneLine(sentence)}</p>
      {cause !== undefined && <p class="mono small">{inOneLine(cause)}</p>}
      {where !== undefined && <PlaceLink place={where} states={states} />}
    </div>
  )
}

const PLACES: Readonly<Record<Place['list'], string>> = {
  letters: 'Open the dead letters',
  pending: 'Open the pending events',
  active: 'Open the active events',
  processes: 'See the processes',
  refusals: 'See the refusals',
}

function PlaceLink({ place: { list, type }, states }: { readonly place: Place; readonly states: States }) {
  if (list === 'processes' || list === 'refusals') {
    const show = (event: Event) => {
      event.preventDefault()
      const panel = document.getElementById(`panel-${list}`)
      panel?.scrollIntoView({ block: 'center' })
      panel?.focus({ preventScroll: true })
    }
    return (
      <a href={hrefOf(['overview'])} onClick={show}>
        {PLACES[list]}
      </a>
    )
  }
  if (list !== 'letters' && !states.includes(list)) return null
  const of = type === undefined ? '' : ` of ${visible(type)}`
  return (
    <a href={hrefOf([list], type === undefined ? {} : { type })}>
      {PLACES[list]}
      {of}
    </a>
  )
}

interface FigureListProps {
  readonly stats: Stats
  readonly report: ActivityReport | undefined
  readonly states: States
}

/** Figures, each of which leads to what it counts. Red is only what has failed. */
export function Figures({ stats, report, states }: FigureListProps) {
  const { pending, active, dead, oldestPendingMs } = stats
  const total = report?.figures?.total
  const linkTo = (state: 'pending' | 'active') => (states.includes(state) ? hrefOf([state]) : undefined)
  return (
    <dl class="figures">
      <Figure label="Pending" href={linkTo('pending')}>
        {formatCount(pending)}
      </Figure>
      <Figure label="Active" href={linkTo('active')}>
        {formatCount(active)}
      </Figure>
      <Figure
        label="Dead letters"
        href={hrefOf(['letters'])}
        isBad={(total?.deadLettered ?? 0) > 0 && dead > 0}
      >
        {formatCount(dead)}
      </Figure>
      <Figure label="Oldest unhandled" href={linkTo(pending === 0 ? 'active' : 'pending')}>
        {oldestPendingMs === 0 ? '–' : spanOf(oldestPendingMs)}
      </Figure>
      {total !== undefined && <Shares total={total} />}
    </dl>
  )
}

function Shares({ total: { accepted, failedShare, lag, handlerTime } }: { readonly total: FiguresOf }) {
  return (
    <>
      <Figure label="Received">{formatCount(accepted)}</Figure>
      <Figure
        label="Attempts that failed"
        href={hrefOf(['letters'])}
        isBad={(failedShare ?? 0) >= FAILING_SHARE}
      >
        {shareText(failedShare)}
      </Figure>
      <Figure label="Wait, p50 · p95" isPair>
        <Pair times={lag} />
      </Figure>
      <Figure label="Handler time, p50 · p95" isPair>
        <Pair times={handlerTime} />
      </Figure>
    </>
  )
}

interface FigureProps {
  readonly label: string
  readonly href?: string | undefined
  readonly isBad?: boolean
  /** Two values, in one line if they fit. */
  readonly isPair?: boolean
  readonly children: ComponentChildren
}

function Figure({ label, href, isBad = false, isPair = false, children }: FigureProps) {
  return (
    <div class={isBad ? 'figure bad' : 'figure'}>
      <dt>{label}</dt>
      <dd class={isPair ? 'pair' : undefined}>
        {href === undefined ? children : <a href={href}>{children}</a>}
      </dd>
    </div>
  )
}

/** The busiest types. A type leads to its dead letters. */
export function Types({ types }: Pick<ActivityFigures, 'types'>) {
  if (types.length === 0) return null
  return (
    <section class="stack tight" aria-labelledby="types">
      <h2 id="types">By type</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="table-frame" aria-label="Figures by type" tabIndex={0}>
        <table class="by-type">
          <caption class="visually-hidden">Figures by type</caption>
          <thead>
            <tr>
              <th scope="col">Type</th>
              {['Received', 'Handled', 'Failed', 'Dead', 'Wait p95', 'Time p50', 'Time p95'].map(label => (
                <th key={label} scope="col" class="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {types.map(figures => (
              <TypeLine key={figures.type ?? ''} figures={figures} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function TypeLine({ figures }: { readonly figures: ActivityFigures['types'][number] }) {
  const { type, accepted, handled, failed, failedShare, deadLettered, lag, handlerTime } = figures
  const isBad = (failedShare ?? 0) >= FAILING_SHARE
  return (
    <tr class="row">
      <th scope="row">
        {type === undefined ? 'other types' : <a href={hrefOf(['letters'], { type })}>{visible(type)}</a>}
      </th>
      <td class="number">{formatCount(accepted)}</td>
      <td class="number">{formatCount(handled)}</td>
      <td class={isBad ? 'number wrong' : 'number'}>
        {failed === 0 ? '0' : `${formatCount(failed)} (${shareText(failedShare)})`}
      </td>
      <td class="number">{formatCount(deadLettered)}</td>
      <td class="number">{lag === undefined ? '–' : timeText(lag.p95)}</td>
      <td class="number">{handlerTime === undefined ? '–' : timeText(handlerTime.p50)}</td>
      <td class="number">{handlerTime === undefined ? '–' : timeText(handlerTime.p95)}</td>
    </tr>
  )
}

function shareText(share: number | undefined): string {
  if (share === undefined) return '–'
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`
}

/** The median and the 95th percentile. A narrow figure breaks the line between them only. */
function Pair({ times }: { readonly times: Percentiles | undefined }) {
  if (times === undefined) return <>–</>
  return (
    <>
      <span>{timeText(times.p50)} ·</span> <span>{timeText(times.p95)}</span>
    </>
  )
}

/** Formats milliseconds with two or three digits. */
export function timeText(ms: number): string {
  if (ms === 0) return '0 ms'
  if (ms < 1) return '< 1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : spanOf(ms)
}
