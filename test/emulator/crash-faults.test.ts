// A short version of the full fault run (`npm run test:faults`): the same test with a small part of the load.
process.env['FAULT_SCALE'] ??= '0.01'

await import('../faults/emulator/kill-at-random.test.ts')
