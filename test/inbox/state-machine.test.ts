// A short version of the full fault run (`npm run test:faults`): the same machine with fewer seeds.
process.env['FAULT_SCALE'] ??= '0.01'

await import('../faults/inbox/state-machine.test.ts')
