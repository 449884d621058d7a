import type { ComponentType } from 'preact';

/** Parameters of a view, from its address. */
export interface ViewProps {
  parameters: Readonly<Record<string, string>>;
  query: URLSearchParams;
}

/** A view of the console. */
export interface PageRow {
  /** Its address, `/console/labels` or `/console/labels/:id`. */
  path: string;
  /** Its name in the navigation; views without one are reached from others. */
  nav?: string;
  /** For administrators of the account: others get a sentence. */
  administrators?: true;
  /** For administrators of the platform; with `administrators` for whoever is either. */
  platform?: true;
  view: ComponentType<ViewProps>;
}

/** A part of the navigation. It is shown as soon as it has a view. */
export interface Section {
  title: string;
  rows: readonly PageRow[];
}
