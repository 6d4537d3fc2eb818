/** Values of `adapterSuiteOptions`, repeated because `@ackhook/testing` is for Node and this runs everywhere. */
export const options = {
  bodyLimit: 65_536,
  bodyTimeout: '2s',
  logger: { info() {}, warn() {}, error() {} },
}
