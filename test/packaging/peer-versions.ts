/** A package beside versions of its peers. */
export type Pairing = readonly [program: string, peers: Readonly<Record<string, string>>]

/**
 * The oldest and the newest version of each peer: an exact version is the oldest of its range, and a major version stands
 * for its newest release. A program's name begins with the folder of its package.
 */
export const PAIRINGS: readonly Pairing[] = [
  ['hono', { hono: '4.0.0' }],
  ['hono', { hono: '4' }],
  ['express', { express: '4.16.0', '@types/express': '4.17.17' }],
  ['express', { express: '4.17.0' }],
  ['express', { express: '4', '@types/express': '4' }],
  ['express', { express: '5', '@types/express': '5' }],
  ['fastify', { fastify: '5.0.0' }],
  ['fastify', { fastify: '5' }],
  ['nestjs', { '@nestjs/common': '10.4.0', '@nestjs/core': '10.4.0' }],
  ['nestjs', { '@nestjs/common': '10', '@nestjs/core': '10' }],
  ['nestjs', { '@nestjs/common': '11', '@nestjs/core': '11' }],
  ['nestjs', { '@nestjs/common': '12', '@nestjs/core': '12' }],
  ['dashboard', { fastify: '5.0.0' }],
  ['dashboard', { fastify: '5' }],
  ['sqlite', { '@photostructure/sqlite': '1.2.1' }],
  ['sqlite', { '@photostructure/sqlite': '2' }],
  ['emulator', { '@photostructure/sqlite': '1.2.1' }],
  ['emulator', { '@photostructure/sqlite': '2' }],
  ['redis', { ioredis: '5.0.0' }],
  ['redis', { ioredis: '6' }],
  ['sqs', { '@aws-sdk/client-sqs': '3.1018.0' }],
  ['sqs', { '@aws-sdk/client-sqs': '3' }],
  ['opentelemetry', { '@opentelemetry/api': '1.9.0' }],
  ['opentelemetry', { '@opentelemetry/api': '1' }],
  // The other libraries, and what each of these does, are tested by test:databases, whose versions are those of the ranges.
  ['sql', { pg: '8.3.3', 'drizzle-orm': '0.36.4', kysely: '0.27.6' }],
  ['sql', { pg: '8', 'drizzle-orm': '0', kysely: '0' }],
  ['bullmq on Redis', { bullmq: '6.7.0', ioredis: '5.3.0' }],
  ['bullmq on Redis', { bullmq: '6', ioredis: '6' }],
  ['bullmq on PostgreSQL', { bullmq: '6.7.0', pg: '8.3.3' }],
  ['bullmq on PostgreSQL', { bullmq: '6', pg: '8' }],
]

/** Peers that only `npm run test:databases` runs. */
export const BY_DATABASES: readonly string[] = ['mysql2']
