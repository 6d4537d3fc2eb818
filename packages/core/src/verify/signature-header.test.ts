import { describe, expect, it } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { parseSignatureHeader } from './signature-header.ts'

const A = 'a'.repeat(64)
const B = '0123456789abcdefABCDEF0123456789'.repeat(2)
const parts = (timestamp: string, ...signatures: string[]) => ({ timestamp, signatures })

function parse(value: string, scheme = 'v1') {
  return parseSignatureHeader(value, scheme)
}

describe('a signature header', () => {
  it.each([
    [`t=1,v1=${A}`, parts('1', A)],
    [`v1=${A},t=1`, parts('1', A)],
    [`t=1, v1=${A}`, parts('1', A)],
    [` \tt=1 \t, v1=${A} `, parts('1', A)],
    [`\r\n t=1,\v\fv1=${A}\n`, parts('1', A)],
    [`,,t=1,,v1=${A},`, parts('1', A)],
    [`t=1,v1=${A},v1=${B}`, parts('1', A, B)],
    [`t=1,v0=x,v1=${B},v2=,x==`, parts('1', B)],
    [`t=,v1=${A}`, parts('', A)],
    [`t= 1,v1=${A}`, parts(' 1', A)],
    [`t=a=b,v1=${A}`, parts('a=b', A)],
    [`t=1,v1=${A},T=2,V1=${B}`, parts('1', A)],
  ])('is read from %s', (value, expected) => {
    expect(parse(value)).toEqual(expected)
  })

  it.each([
    ['', 'no t'],
    [',', 'no t'],
    [`v1=${A}`, 'no t'],
    ['t=1', 'no v1'],
    [`t=1,v0=${A}`, 'no v1'],
    [`t=1,t=1,v1=${A}`, 'more than one t: was the header sent twice?'],
    [`t=1,v1=${A}, t=1,v1=${A}`, 'more than one t: was the header sent twice?'],
    [`t=,t=1,v1=${A}`, 'more than one t: was the header sent twice?'],
    [`t=1,v1=${A},x`, 'an element without a name and a value'],
    [`t=1,v1=${A},=x`, 'an element without a name and a value'],
    [`t=1,v1=${A},=`, 'an element without a name and a value'],
    [`t=1,v1= ${A}`, 'a v1 that is not 64 hexadecimal digits'],
    [`t=1,v1=${A.slice(1)}`, 'a v1 that is not 64 hexadecimal digits'],
    [`t=1,v1=${A}a`, 'a v1 that is not 64 hexadecimal digits'],
    [`t=1,v1=${A}\n`.concat('x'), 'a v1 that is not 64 hexadecimal digits'],
    [`t=1,v1=${A}\u0000`, 'a v1 that is not 64 hexadecimal digits'],
    [`t=1,v1=${A}\u00a0`, 'a v1 that is not 64 hexadecimal digits'],
  ])('is refused when it is %j', (value, detail) => {
    const refusal = parse(value)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ code: 'signature_malformed', detail })
  })

  it.each([`t=1,v1=,v1=${A}`, `t=1,v1=${A},v1=potato`, `v1=${A.slice(1)},t=1,v1=${A},v1=`])(
    'may hold signatures of another form next to a well-formed one: %s',
    value => {
      expect(parse(value)).toEqual({ timestamp: '1', signatures: [A] })
    },
  )

  it('may hold sixteen signatures and no more', () => {
    const many = (count: number) => `t=1${`,v1=${A}`.repeat(count)}`
    expect(parse(many(16))).toEqual({ timestamp: '1', signatures: Array(16).fill(A) })
    expect(parse(many(17))).toMatchObject({ code: 'signature_malformed', detail: 'more than 16 v1' })
  })

  it('may be 4096 characters long and no longer', () => {
    const long = (length: number) => `t=1,v1=${A},x=`.padEnd(length, '0')
    expect(parse(long(4096))).toEqual(parts('1', A))
    expect(parse(long(4097))).toMatchObject({
      code: 'signature_malformed',
      detail: 'longer than 4096 characters',
    })
  })

  it('is read by the scheme of the contract', () => {
    expect(parse(`t=1,s2=${A},v1=zz`, 's2')).toEqual(parts('1', A))
    expect(parse(`t=1,v1=${A}`, 's2')).toMatchObject({ detail: 'no s2' })
    expect(parse('t=1,s2=zz', 's2')).toMatchObject({ detail: 'a s2 that is not 64 hexadecimal digits' })
  })
})

describe('digits', () => {
  it.each([
    `t=1,v1=${A}`,
    `t=1,v1=${B}`,
    `t=1,v1=${A.slice(1)}g,v1=${A}`,
    `t=1,v1=${A},v1=${A.slice(1)}g`,
    `t=1,é=1,v1=${A}`,
  ])('are found in %s', value => {
    expect(parse(value)).not.toBeInstanceOf(Refusal)
  })

  it.each([
    `t=1,v1=${A.slice(1)}g`,
    `t=1,v1=g${A.slice(1)}`,
    `t=1,v1=${A.slice(1)}é`,
    `t=1,v1=${A.slice(2)}==,v1=${A.slice(1)}-`,
  ])('are not in %s', value => {
    expect(parse(value)).toMatchObject({
      code: 'signature_malformed',
      detail: 'a v1 that is not 64 hexadecimal digits',
    })
  })
})
