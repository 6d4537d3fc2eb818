import { useEffect } from 'preact/hooks'
import type { Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { Loading } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { lazy } from '../kit/lazy.tsx'
import { useResource } from '../kit/resource.ts'
import { route } from '../kit/route.ts'
import { type Place, Shell } from '../kit/shell.tsx'
import { Batches } from './batches.tsx'
import { EventsPage } from './events-page.tsx'
import { selectionHere } from './filters.tsx'
import { FindBox, FindButton } from './find-box.tsx'
import { LetterPage } from './letter-page.tsx'
import { LettersPage } from './letters-page.tsx'
import { OverviewPage } from './overview-page.tsx'
import { PauseNote } from './pause.tsx'
import { loadVerbs } from './verbs.ts'

const EVERY_MS = 2000
const ActionsPage = lazy(() => import('./actions-page.tsx').then(({ ActionsPage }) => ActionsPage))

export function Dashboard() {
  const overview = useResource(signal => call<Overview>('api/overview', { signal }), EVERY_MS)
  const data = overview.data.value
  useEffect(() => void loadVerbs(), [data])
  return (
    <Shell
      brand="dashboard"
      places={placesOf(data)}
      tool={<FindButton />}
      foot={data?.role === 'read' ? 'Read only' : undefined}
    >
      <Failure error={overview.error.value} retry={overview.reload} isStale={data !== undefined} />
      {data !== undefined && <PauseNote overview={data} onChanged={overview.reload} />}
      <Batches role={data?.role} />
      {data !== undefined || overview.error.value === undefined ? (
        <Page data={data} told={overview.error.value} reload={overview.reload} />
      ) : (
        <h1 class="visually-hidden">Dashboard</h1>
      )}
      <FindBox traceUrl={data?.traceUrl} emulatorUrl={data?.emulatorUrl} />
    </Shell>
  )
}

function placesOf(data: Overview | undefined): readonly Place[] {
  return [
    { path: 'overview', label: 'Overview' },
    { path: 'letters', label: 'Dead letters', count: data?.stats.dead ?? 0 },
    ...(data?.browsing.states ?? []).map(state => ({
      path: state,
      label: state === 'pending' ? 'Pending' : 'Active',
      count: data?.stats[state === 'pending' ? 'pending' : 'active'] ?? 0,
    })),
    { path: 'actions', label: 'Actions' },
  ]
}

interface PageParts {
  readonly data: Overview | undefined
  /** The failure that stands above the page. */
  readonly told: Error | undefined
  readonly reload: () => void
}

/**
 * Shows the current page. Dead letters load in parallel with the overview, because every inbox has them. Their age is
 * measured by the server's time, which the overview has.
 */
function Page({ data, told, reload }: PageParts) {
  const [place = 'overview', key] = route.value.parts
  const isTimeNeeded = selectionHere.value.age !== '' && data === undefined
  if (place === 'letters' && key === undefined && !isTimeNeeded) return <LettersPage overview={data} />
  if (data === undefined) return <Loading />
  if (place === 'actions') return <ActionsPage onChanged={reload} />
  if (place === 'letters' && key !== undefined)
    return <LetterPage key={key} letterKey={key} role={data.role} links={data} />
  const state = data.browsing.states.find(one => one === place)
  if (state !== undefined) return <EventsPage key={state} state={state} overview={data} />
  return <OverviewPage data={data} told={told} reload={reload} />
}
