// A short version of the full fault run (`npm run test:faults`): the same tests with a small part of the load.
process.env['FAULT_SCALE'] ??= '0.01'

await import('../faults/inbox/rolling-deployment.test.ts')
