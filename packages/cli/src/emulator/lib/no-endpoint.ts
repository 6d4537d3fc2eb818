/** Advice for a workspace without an endpoint. */
export const NO_ENDPOINT = 'Set the address of your app: npx ackhook emulator endpoint set --to <url>'
