import { expect, it } from 'vitest'
import { threadFlags } from './thread-flags.ts'

it('leaves out preloads, from the flags and from NODE_OPTIONS', () => {
  const flags = [
    '--import',
    './otel.mjs',
    '-r',
    'dotenv/config',
    '--require=./a.cjs',
    '--max-old-space-size=100',
  ]
  const { execArgv, env } = threadFlags(flags, {
    NODE_OPTIONS: '--import "./with space.mjs" -r ./b.cjs',
    A: '1',
  })
  expect(execArgv).toEqual([])
  expect(env).toEqual({ NODE_OPTIONS: '', A: '1' })
})

it('keeps flags for finding modules and for printing warnings', () => {
  const flags = ['--experimental-sqlite', '--import', './otel.mjs', '--disable-warning=ExperimentalWarning']
  const NODE_OPTIONS =
    '--require "/my app/.pnp.cjs" --experimental-loader=file:///app/.pnp.loader.mjs --no-warnings --inspect'
  expect(threadFlags(flags, { NODE_OPTIONS }).execArgv).toEqual([
    '--experimental-sqlite',
    '--disable-warning',
    'ExperimentalWarning',
    '--require',
    '/my app/.pnp.cjs',
    '--experimental-loader',
    'file:///app/.pnp.loader.mjs',
    '--no-warnings',
  ])
})
