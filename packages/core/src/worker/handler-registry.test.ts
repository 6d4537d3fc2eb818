import { describe, expect, it } from 'vitest'
import { AckhookError, ConfigurationError } from '../errors/errors.ts'
import { HandlerRegistry } from './handler-registry.ts'

/** Creates a registry, and a function that returns which of its named handlers match a type. */
function named() {
  const registry = new HandlerRegistry()
  const names = new Map<unknown, string>()
  return {
    registry,
    on(name: string, pattern: string | readonly string[]) {
      const handler = () => {}
      names.set(handler, name)
      registry.add(pattern, handler)
    },
    match: (type: string) => registry.match(type).map(handler => names.get(handler)),
  }
}

describe('matching', () => {
  it('returns the exact type, then its category, then everything, each in order of registration', () => {
    const { on, match } = named()
    on('all 1', '*')
    on('category 1', 'conversation.*')
    on('exact 1', 'conversation.resolved')
    on('all 2', '*')
    on('exact 2', 'conversation.resolved')
    on('category 2', 'conversation.*')
    expect(match('conversation.resolved')).toEqual([
      'exact 1',
      'exact 2',
      'category 1',
      'category 2',
      'all 1',
      'all 2',
    ])
    expect(match('conversation.opened')).toEqual(['category 1', 'category 2', 'all 1', 'all 2'])
    expect(match('message.sent')).toEqual(['all 1', 'all 2'])
  })

  it('accepts lists, each type once', () => {
    const { on, match } = named()
    on('both', ['a.b', 'c.d', 'a.b', 'e.*'])
    expect(match('a.b')).toEqual(['both'])
    expect(match('c.d')).toEqual(['both'])
    expect(match('e.f')).toEqual(['both'])
    expect(match('a.c')).toEqual([])
  })

  it('returns a handler once, however many patterns of one list match', () => {
    const { on, match } = named()
    on('list', ['a.b', 'a.*', 'c.d', '*', 'a.b.c'])
    on('category', ['a.b', 'a.*', 'ab.c'])
    on('twice', 'a.b')
    on('twice', 'a.b')
    expect(match('a.b')).toEqual(['twice', 'twice', 'category', 'list'])
    expect(match('a.b.c')).toEqual(['category', 'list'])
    expect(match('ab.c')).toEqual(['category', 'list'])
    expect(match('c.d')).toEqual(['list'])
  })

  it('treats the part before the first dot as the category', () => {
    const { on, match } = named()
    on('a', 'a.*')
    expect(match('a.b.c')).toEqual(['a'])
    expect(match('a.')).toEqual(['a'])
    expect(match('a')).toEqual([])
    expect(match('ab.c')).toEqual([])
    expect(match('.a')).toEqual([])
  })

  it('treats names of object members as ordinary strings', () => {
    const { on, match } = named()
    for (const type of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(match(type)).toEqual([])
      expect(match(`${type}.x`)).toEqual([])
      on(type, type)
      on(`${type}.*`, `${type}.*`)
      expect(match(type)).toEqual([type])
      expect(match(`${type}.x`)).toEqual([`${type}.*`])
    }
  })

  it('is the same before and after start', () => {
    const { on, match, registry } = named()
    on('exact', 'a.b')
    on('category', 'a.*')
    expect(match('a.b')).toEqual(['exact', 'category'])
    registry.freeze()
    for (let i = 0; i < 2; i++) {
      expect(match('a.b')).toEqual(['exact', 'category'])
      expect(match('a.c')).toEqual(['category'])
    }
    expect(registry.match('a.b')).toBe(registry.match('a.b'))
  })

  it('does not cache a list before its last handler was added', () => {
    const { on, match } = named()
    on('one', 'a.b')
    expect(match('a.b')).toEqual(['one'])
    on('two', 'a.b')
    expect(match('a.b')).toEqual(['one', 'two'])
  })
})

describe('registering', () => {
  it.each(['', '.*', '**', 'a.**', 'a*', '*.a', 'a.b.*', '*.*', 7, undefined, null])(
    'refuses the pattern %j',
    pattern => {
      const { registry } = named()
      expect(() => registry.add(pattern as string, () => {})).toThrow(ConfigurationError)
      expect(() => registry.add([pattern as string], () => {})).toThrow(ConfigurationError)
      expect(() => registry.add(['a.b', pattern as string], () => {})).toThrow(ConfigurationError)
      expect(registry.match('a.b')).toEqual([])
    },
  )

  it('refuses an empty list', () => {
    expect(() => new HandlerRegistry().add([], () => {})).toThrow(ConfigurationError)
  })

  it('refuses a value that is not a function, and names the call', () => {
    const registry = new HandlerRegistry()
    const wrong = undefined as never
    expect(() => registry.add('a.b', wrong)).toThrow("Option 'on('a.b')': the handler must be a function")
    expect(() => registry.add({ 'a.b': () => {} } as never, undefined as never)).toThrow("Option 'on': ")
    expect(() => registry.addListener('onUnhandled', wrong)).toThrow('onUnhandled')
    expect(() => registry.addListener('onError', wrong)).toThrow('onError')
    expect(() => registry.addListener('onDeadLetter', wrong)).toThrow('onDeadLetter')
  })

  it('keeps listeners in order, each kind separately', () => {
    const registry = new HandlerRegistry()
    const [a, b, c, d] = [() => 1, () => 2, () => 3, () => 4]
    registry.addListener('onUnhandled', a)
    registry.addListener('onError', b)
    registry.addListener('onDeadLetter', c)
    registry.addListener('onDeadLetter', d)
    expect(registry.listeners).toEqual({ onUnhandled: [a], onError: [b], onDeadLetter: [c, d] })
  })

  it('ends with start, and says so', () => {
    const registry = new HandlerRegistry()
    registry.freeze()
    const late = expect.objectContaining({ code: 'registry_frozen' })
    expect(() => registry.add('a.b', () => {})).toThrow(AckhookError)
    expect(() => registry.add('a.b', () => {})).toThrow(late)
    expect(() => registry.add('a.b', () => {})).toThrow("on('a.b') was called after processing had started")
    expect(() => registry.addListener('onError', () => {})).toThrow(late)
  })
})
