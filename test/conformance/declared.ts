/** Cases that a framework makes impossible, with reasons. */
export const DECLARED: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
