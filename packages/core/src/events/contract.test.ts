import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../errors/errors.ts'
import { type ContractOptions, resolveContract } from './contract.ts'

describe('the contract', () => {
  it('is the published one by default', () => {
    expect(resolveContract()).toEqual({
      header: 'x-service-signature',
      scheme: 'v1',
      timestampUnit: 'auto',
      fields: { id: 'id', type: 'type', created_at: 'created_at', data: 'data' },
    })
  })

  it('applies overrides and keeps the rest', () => {
    const upcast: ContractOptions['upcast'] = event => event
    expect(
      resolveContract({
        header: 'X-Other',
        scheme: 's-2',
        timestampUnit: 'iso8601',
        fields: { data: 'payload' },
        upcast,
      }),
    ).toEqual({
      header: 'x-other',
      scheme: 's-2',
      timestampUnit: 'iso8601',
      fields: { id: 'id', type: 'type', created_at: 'created_at', data: 'payload' },
      upcast,
    })
  })

  it.each(['seconds', 'milliseconds', 'iso8601', 'auto'] as const)('reads t in %s', timestampUnit => {
    expect(resolveContract({ timestampUnit }).timestampUnit).toBe(timestampUnit)
  })

  it.each([
    ['contract.header', { header: '' }],
    ['contract.header', { header: 'X Signature' }],
    ['contract.header', { header: 'X-Signature:' }],
    ['contract.header', { header: 'é' }],
    ['contract.header', { header: 5 }],
    ['contract.scheme', { scheme: '' }],
    ['contract.scheme', { scheme: 't' }],
    ['contract.scheme', { scheme: 'v1,' }],
    ['contract.scheme', { scheme: 'v=1' }],
    ['contract.scheme', { scheme: ' v1' }],
    ['contract.scheme', { scheme: 1 }],
    ['contract.timestampUnit', { timestampUnit: 'minutes' }],
    ['contract.timestampUnit', { timestampUnit: 1 }],
    ['contract', 'X-Signature'],
    ['contract.fields', { fields: 'id' }],
    ['contract.fields', { fields: { id: '' } }],
    ['contract.fields', { fields: { id: 1 } }],
    ['contract.fields', { fields: { id: 'type' } }],
    ['contract.fields', { fields: { data: 'id' } }],
    ['contract.fields.extra', { fields: { extra: 'x' } }],
    ['contract.timestampunit', { timestampunit: 'seconds' }],
    ['contract.upcast', { upcast: 'v2' }],
  ])('refuses a wrong value by the name of its option: %s %j', (option, options) => {
    const attempt = () => resolveContract(options as ContractOptions)
    expect(attempt).toThrow(ConfigurationError)
    expect(attempt).toThrow(expect.objectContaining({ option }))
  })
})
