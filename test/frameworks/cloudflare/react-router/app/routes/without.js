import { handleWebhook } from '../without.server.js'

export const action = args => handleWebhook(args.request, args)
