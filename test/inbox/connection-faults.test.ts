// A short version of the full fault run (`npm run test:faults`).
await import('../faults/connections/ended-connections.test.ts')
