/** Options that may each also be `undefined`. */
export type Maybe<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }
