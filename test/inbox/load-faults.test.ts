// A short version of the full fault run (`npm run test:faults`): the same tests with a small part of the load.
process.env['FAULT_SCALE'] ??= '0.01'

await import('../faults/inbox/kill-at-random.test.ts')
await import('../faults/inbox/drain.test.ts')
await import('../faults/inbox/bad-handlers.test.ts')
await import('../faults/inbox/backpressure.test.ts')
await import('../faults/inbox/garbage.test.ts')
