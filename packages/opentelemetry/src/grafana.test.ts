import { readFileSync } from 'node:fs'
import { createReceiver, memoryInbox, type Observation, RetryAfterError } from '@ackhook/core'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { expect, it } from 'vitest'
import { opentelemetry } from './opentelemetry.ts'

const about = { id: 'evt_1', type: 'a.b', namespace: '' }
const attempt = { ...about, attempt: 1, durationMs: 1 }
const error = new RetryAfterError('no', '1s')

/** One observation of each kind that makes a measurement. */
const OBSERVATIONS: readonly Observation[] = [
  { kind: 'accepted', code: 'accepted', conflict: false, durationMs: 1, ...about },
  { kind: 'duplicate', conflict: false, durationMs: 1, ...about },
  { kind: 'rejected', code: 'signature_mismatch', status: 401, durationMs: 1 },
  { kind: 'completed', lagMs: 1, ...attempt },
  { kind: 'attempt_failed', error, ...attempt },
  { kind: 'dead_lettered', error, ...attempt },
  { kind: 'redriven', ...about },
  { kind: 'discarded', ...about },
  { kind: 'lease_lost', ...about },
]

/** Scrapes a process that has made all of these observations. */
async function scrape(): Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const meterProvider = new MeterProvider({ readers: [exporter] })
  const telemetry = opentelemetry({ meterProvider })
  const inner = memoryInbox()
  // As an inbox on PostgreSQL does.
  const stats = async () => ({ ...(await inner.stats()), oldestSnapshotMs: 0, deadRows: 0 })
  const receiver = createReceiver({
    secret: 'a-secret-of-at-least-16-bytes',
    inbox: { ...inner, stats },
    expectEvery: '1h',
  })
  receiver.on('*', () => {})
  await receiver.start()
  telemetry.watch(receiver)
  for (const one of OBSERVATIONS) telemetry(one)
  const { resourceMetrics } = await exporter.collect()
  return new PrometheusSerializer().serialize(resourceMetrics)
}

const read = (name: string) => readFileSync(new URL(`../grafana/${name}`, import.meta.url), 'utf8')
const namesIn = (text: string) =>
  new Set(text.match(/\b(?:ackhook|messaging)_[a-z_]+(?=\{|\[|\)|,| job)/g)?.filter(isNoLabel))
const isNoLabel = (name: string) =>
  !['messaging_destination_name', 'ackhook_incident', 'ackhook_cause'].includes(name)

it('the dashboard and the alerts use only exported metrics and labels, and together every metric', async () => {
  const lines = (await scrape()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  const exported = new Set(lines.map(line => line.split(/[{ ]/, 1)[0] ?? ''))
  const labels = new Set(lines.flatMap(line => [...line.matchAll(/([a-z_]+)="/g)].map(([, label]) => label)))
  const used = new Set([...namesIn(read('dashboard.json')), ...namesIn(read('alerts.yaml'))])
  expect([...used].filter(name => !exported.has(name))).toEqual([])
  const families = new Set([...exported].map(family))
  families.delete('target_info')
  expect([...families].filter(name => ![...used].map(family).includes(name))).toEqual([])
  const texts = read('dashboard.json') + read('alerts.yaml')
  for (const label of [
    'messaging_destination_name',
    'error_type',
    'ackhook_incident',
    'http_response_status_code',
  ]) {
    expect(texts).toContain(label)
    expect(labels).toContain(label)
  }
})

function family(name: string): string {
  return name.replace(/_(?:bucket|count|sum)$/, '')
}

it('each alert has an expression, a severity, a summary and a unique name', () => {
  const rules = read('alerts.yaml').split('- alert: ').slice(1)
  expect(rules.length).toBeGreaterThan(5)
  for (const rule of rules)
    expect(rule).toMatch(/^Ackhook\w+\n(?: +#.+\n)* +expr: .+\n[\s\S]*severity: \w+\n[\s\S]*summary: .+/)
  const names = rules.map(rule => rule.split('\n', 1)[0])
  expect(new Set(names).size).toBe(names.length)
})

const PAGE = 'https://github.com/ackhook/ackhook/blob/main/'

it('each alert links to its own section of a page, and names lines of the log that exist', () => {
  const docs = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const codes = new Set([...docs('docs/errors.md').matchAll(/^\| `([a-z_]+)`/gm)].map(([, code]) => code))
  for (const rule of read('alerts.yaml').split('- alert: ').slice(1)) {
    const name = rule.split('\n', 1)[0] ?? ''
    const [, path = '', anchor] = /runbook_url: (\S+)#(\S+)/.exec(rule) ?? []
    expect(path.startsWith(PAGE), `${name} has a runbook_url`).toBe(true)
    expect(anchor).toBe(name.toLowerCase())
    expect(docs(path.slice(PAGE.length))).toMatch(new RegExp(`^### ${name}$`, 'm'))
    const [, log = ''] = /\n +log: "(.+)"\n/.exec(rule) ?? []
    expect(log, `${name} names a line of the log`).not.toBe('')
    const named = log.replaceAll(/\{\{.*?\}\}/g, ' ').match(/[a-z]+(?:_[a-z]+)+/g) ?? []
    expect(named.filter(code => !codes.has(code))).toEqual([])
  }
})

it('the dashboard keeps the figures of two jobs apart', () => {
  const { panels } = JSON.parse(read('dashboard.json')) as { panels: { targets: { expr: string }[] }[] }
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const depths = exprs.filter(expr => /ackhook_(?:pending|active|dead|untried|retrying|capacity)/.test(expr))
  expect(depths.length).toBeGreaterThan(5)
  expect(depths.filter(expr => !expr.includes('by (job'))).toEqual([])
})

it('a scrape reports its inbox as down instead of repeating an earlier depth', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const telemetry = opentelemetry({ meterProvider: new MeterProvider({ readers: [exporter] }) })
  let isDown = false
  telemetry.watch({
    async stats() {
      if (isDown) throw new Error('ECONNREFUSED')
      return { pending: 77, active: 0, dead: 0, oldestPendingMs: 0 }
    },
  })
  const text = async () => new PrometheusSerializer().serialize((await exporter.collect()).resourceMetrics)
  expect(await text()).toMatch(/^ackhook_pending\S* 77\b/m)
  isDown = true
  const down = await text()
  expect(down).not.toMatch(/^ackhook_pending/m)
  expect(down).not.toMatch(/\bNaN\b/)
  expect(down).toMatch(/^ackhook_inbox_up\S* 0\b/m)
  expect(down).not.toContain(' 77')
})
