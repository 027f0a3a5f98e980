// The types of arena_kit.js, which tells what `choose` gets and what you may use.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: any };
export type Action = Fields | number;
export type Clock = { move_ms: number; bank_ms: number };
export type Choose = (view: Fields, legal: Action[] | null, clock: Clock) => Action;
export type Values = number[] | { values: number[]; errors: number[] };
export type Evaluate = (view: Fields, legal: Action[], budget_ms: number) => Values;
export type Hooks = { start?: (match: Fields) => void; end?: (result: Fields) => void; evaluate?: Evaluate };

export const hello: Fields;
export const match: Fields;
export const request: Fields;
export const simulations: number;
export function note(text: string): void;
export function simulate(what: Fields): Fields;
export function play(choose: Choose, hooks?: Hooks): void;
