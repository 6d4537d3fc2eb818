/** Each question with its answers, the default first. Source of the prompts, flags and help. */
export const QUESTIONS = {
  framework: {
    question: 'Which framework?',
    answers: { express: 'Express 5', fastify: 'Fastify 5', hono: 'Hono' },
  },
  inbox: {
    question: 'Where do events wait for their handlers?',
    answers: {
      memory: 'In memory: a crash loses waiting events',
      sqlite: 'SQLite: one machine, survives a crash',
      bullmq: 'BullMQ on Redis: many machines, survives a crash',
    },
  },
  database: {
    question: 'Where do handlers write?',
    answers: {
      none: 'Nowhere yet',
      postgres: 'PostgreSQL, each effect exactly once (PGlite on your machine)',
    },
  },
  language: {
    question: 'Which language?',
    answers: { typescript: 'TypeScript', javascript: 'JavaScript' },
  },
} as const

export type Question = keyof typeof QUESTIONS

type AnswerOf<Q extends Question> = keyof (typeof QUESTIONS)[Q]['answers']

/** Choices that make up the project. */
export type Choices = { readonly [Q in Question]: AnswerOf<Q> } & { readonly tests: boolean }

export const QUESTION_NAMES = Object.keys(QUESTIONS) as readonly Question[]

/** Returns the answers to a question, the default first. */
export function answersTo<Q extends Question>(question: Q): readonly AnswerOf<Q>[] {
  return Object.keys(QUESTIONS[question].answers) as AnswerOf<Q>[]
}

export function isAnswer<Q extends Question>(question: Q, value: string): value is AnswerOf<Q> & string {
  return Object.hasOwn(QUESTIONS[question].answers, value)
}
