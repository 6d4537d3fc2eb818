import { expect, it } from 'vitest'
import { isAllowedHost } from './allowed-host.ts'

it.each([
  ['localhost', true],
  ['LOCALHOST:3000', true],
  ['127.0.0.1:3000', true],
  ['[::1]:3000', true],
  ['ops.example', true],
  ['Ops.Example:8443', true],
  ['[fd00::1]:80', true],
  ['evil.example', false],
  ['ops.example.evil.example', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example@localhost', false],
  ['evil.example/localhost', false],
  ['', false],
  ['fd00::1', true],
  ['fd00:0:0::1', true],
  [`${'a.'.repeat(130)}ops.example`, false],
])('a dashboard for ops.example and fd00::1 accepts the host %j: %j', (host, expected) => {
  expect(isAllowedHost(host, ['ops.example', 'fd00::1'])).toBe(expected)
})
