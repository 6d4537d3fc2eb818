import { validate } from 'dockerfile-utils'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { readmeBlocks } from '../support/readme-blocks.ts'

const PAGE = 'docs/run/deploying.md'
const textOf = (name: string, page = PAGE): string => readmeBlocks(page, name)[0]?.text ?? ''
const ofHost = (name: string): string => textOf(name, 'docs/run/hosts.md')

interface Probe {
  readonly httpGet: { readonly path: string }
  readonly periodSeconds: number
  readonly failureThreshold: number
}
interface Deployment {
  readonly spec: {
    readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } }
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly { readonly readinessProbe: Probe }[]
      }
    }
  }
}

/** Returns `grace` or `timeout` of the page's program, in seconds. */
function shutdownSeconds(name: 'grace' | 'timeout'): number {
  const [, seconds] = new RegExp(`${name}: '(\\d+)s'`).exec(textOf('shutdown')) ?? []
  return Number(seconds)
}

it('has a valid Dockerfile, whose process receives the signal and is not root', () => {
  const dockerfile = textOf('dockerfile')
  expect(validate(dockerfile)).toEqual([])
  expect(dockerfile).toMatch(/^USER (?!root)\w+$/m)
  expect(dockerfile).toMatch(/^CMD \["node", "[\w.]+"\]$/m)
  expect(dockerfile.indexOf('package-lock.json')).toBeLessThan(dockerfile.indexOf('npm ci'))
})

it('has a Deployment that waits for the shutdown, and notices it within grace', () => {
  const { spec } = parse(textOf('kubernetes')) as Deployment
  const { terminationGracePeriodSeconds, containers } = spec.template.spec
  expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0)
  expect(terminationGracePeriodSeconds).toBeGreaterThan(shutdownSeconds('timeout'))
  const { readinessProbe: probe } = containers[0]!
  expect(probe.httpGet.path).toBe('/health/ready')
  expect(probe.periodSeconds * probe.failureThreshold).toBeLessThan(shutdownSeconds('grace'))
})

it('has a systemd unit that starts node itself and waits for the shutdown', () => {
  const unit = textOf('systemd')
  expect(unit).toMatch(/^ExecStart=\/\S*\bnode \S+$/m)
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(shutdownSeconds('timeout'))
})

it('has settings for hosts that start node itself and wait for the shutdown', () => {
  const railway = JSON.parse(ofHost('railway')) as { deploy: Record<string, string> }
  const ecs = JSON.parse(ofHost('ecs')) as { command: string[]; stopTimeout: number }
  const render = parse(ofHost('render')) as { services: { startCommand: string; healthCheckPath: string }[] }
  const fly = Number(/^kill_timeout = (\d+)$/m.exec(ofHost('fly'))?.[1])
  for (const waits of [fly, Number(railway.deploy['drainingSeconds']), ecs.stopTimeout])
    expect(waits).toBeGreaterThan(shutdownSeconds('timeout'))
  expect([railway.deploy['startCommand'], render.services[0]?.startCommand, ecs.command.join(' ')]).toEqual(
    Array(3).fill('node server.mjs'),
  )
})
