/** Advice for a workspace without an endpoint. */
export const NO_ENDPOINT = "Set your app's address: npx ackhook emulator endpoint set --to <url>"
