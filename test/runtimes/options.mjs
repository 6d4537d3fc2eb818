/** Values of `adapterSuiteOptions`, repeated because `@ackhook/testing` is for Node and this runs everywhere. */
export const options = {
  body: { limit: 65_536, timeout: '2s' },
  logger: { info() {}, warn() {}, error() {} },
}
