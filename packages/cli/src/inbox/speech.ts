import { shellWord } from '@ackhook/core/spi'
import { fieldsOf, PLAIN, Refused, type Speech, say, type Verb } from '@ackhook/dashboard/verbs'
import { UsageError } from '../command/usage-error.ts'

/** Says the fields of a verb as flags or arguments, and verbs as commands. */
export function speechOf(own: Verb, verbs: readonly Verb[]): Speech {
  const isArgument = (field: string) =>
    fieldsOf(own).some(({ name, schema }) => name === field && schema.isArgument === true)
  return {
    ...PLAIN,
    field(name, value) {
      const shown = isArgument(name) ? `<${name}>` : flagOf(name)
      return value === undefined ? shown : `${shown} ${value}`
    },
    verb(name, args) {
      const verb = verbs.find(one => one.name === name)
      const words = (verb === undefined ? [] : fieldsOf(verb)).flatMap(({ name: field, schema }) => {
        const value = args[field]
        if (value === undefined) return []
        if (value === true) return flagOf(field)
        const word = shellWord(String(value))
        return schema.isArgument === true ? word : `${flagOf(field)} ${word}`
      })
      return ['ackhook inbox', name, ...words].join(' ')
    },
  }
}

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`)}`
}

/** Calls `work`, and throws a refusal as an error in the words of the command line. */
export async function inFlags<T>(speech: Speech, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof Refused ? new UsageError(say(cause.words, speech), { cause }) : cause
  }
}
