/** Options, each of which may be `undefined` as well. */
export type Maybe<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }
