// Slow and for people, not for CI: `npm run test:mutation`. The report is written to reports/mutation/.
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  mutate: [
    'packages/core/src/verify/verify-request.ts',
    'packages/core/src/verify/signature-header.ts',
    'packages/core/src/verify/timestamp.ts',
    'packages/core/src/events/decode-event.ts',
  ],
  // Stryker reads tsconfig files with an interface that TypeScript 7 no longer has; Vitest needs none of them.
  tsconfigFile: 'none.json',
  // Its own checks of types would only slow it down: a mutant that does not compile is a mutant all the same.
  checkers: [],
  reporters: ['clear-text', 'progress', 'html'],
  concurrency: 2,
  timeoutMS: 10_000,
  thresholds: { high: 95, low: 90, break: 90 },
}
