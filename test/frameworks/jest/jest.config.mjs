export default {
  testMatch: ['**/*.case.mjs'],
  moduleFileExtensions: ['mjs', 'js', 'json'],
  transform: {},
  fakeTimers: { enableGlobally: true },
}
