import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { Table } from '../../kit/table.tsx';
import './charts.css';

/** A line of a chart: null where there is no figure. */
export interface Series {
  title: string;
  values: readonly (number | null)[];
}

interface Props {
  title: string;
  /** Description of the figures. */
  about: string;
  /** Unix seconds. */
  times: readonly number[];
  series: readonly Series[];
  unit?: string;
  /** How a moment is called in the table. */
  momentOf: (at: number) => string;
  /** Said where there are no figures at all. */
  empty: string;
}

const height = 200;
const colours = 7;

/** Figures over time as lines, and beneath them the same figures as a table, which everybody can read. */
export function Chart({ title, about, times, series, unit = '', momentOf, empty }: Props) {
  const hasFigures = series.some(({ values }) => values.some((value) => value !== null && value !== 0));
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>
        <h2>{title}</h2>
        <p>{about}</p>
      </figcaption>
      {hasFigures ? (
        <>
          <Lines times={times} series={series} unit={unit} />
          <Figures title={title} times={times} series={series} unit={unit} momentOf={momentOf} />
        </>
      ) : (
        <p class="empty">{empty}</p>
      )}
    </figure>
  );
}

type Drawn = Required<Pick<Props, 'times' | 'series' | 'unit'>>;

// Hidden from screen readers, which have the same figures in the table below.
function Lines({ times, series, unit }: Drawn) {
  const place = useRef<HTMLDivElement>(null);
  const [Plot, setPlot] = useState<typeof uPlot | null>(null);
  const [hasFailed, setFailed] = useState(false);
  // Loaded by its readers alone: a browser that it does not work in keeps the rest of the console.
  useEffect(() => {
    import('uplot').then(
      (module) => setPlot(() => module.default),
      () => setFailed(true),
    );
  }, []);
  useEffect(() => {
    const { current } = place;
    if (!current || !Plot) return undefined;
    const drawn = { times, series, unit };
    let plot = draw(Plot, current, drawn);
    const observer = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height }));
    observer.observe(current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => {
      plot.destroy();
      plot = draw(Plot, current, drawn);
    };
    dark.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [Plot, times, series, unit]);
  if (hasFailed) return <p class="note">This browser cannot draw the chart. Use the table.</p>;
  return <div ref={place} aria-hidden="true" />;
}

function draw(Plot: typeof uPlot, place: HTMLElement, { times, series, unit }: Drawn): uPlot {
  const stroke = getComputedStyle(place).color;
  const grid = { stroke: colourOf(place, 'u-line'), width: 1 };
  const text = (value: number | null): string => (value === null ? '–' : `${value}${unit}`);
  const options: uPlot.Options = {
    width: place.clientWidth,
    height,
    series: [
      {},
      ...series.map(({ title }, index) => ({
        label: title,
        stroke: colourOf(place, `series-${index % colours}`),
        width: 2,
        spanGaps: false,
        points: { show: times.length < 60 },
        value: (_: uPlot, value: number | null) => text(value),
      })),
    ],
    axes: [
      { stroke, grid },
      { stroke, grid, size: 60, values: (_, values) => values.map((value) => text(value)) },
    ],
    scales: { y: { range: (_, __, highest) => [0, Math.max(1, highest * 1.1)] } },
  };
  return new Plot(options, [[...times], ...series.map(({ values }) => [...values])], place);
}

// Pictures know nothing of variables and of dark and light: the browser is asked what a class comes to.
function colourOf(place: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

type FiguresProps = Drawn & Pick<Props, 'title' | 'momentOf'>;

function Figures({ title, times, series, unit, momentOf }: FiguresProps) {
  const rows = times
    .map((at, index) => ({ at, values: series.map(({ values }) => values[index] ?? null) }))
    .toReversed();
  return (
    <details>
      <summary>View as table</summary>
      <Table
        caption={`${title}, newest first`}
        rows={rows}
        keyOf={({ at }) => at}
        empty={null}
        columns={[
          { title: 'From', cell: ({ at }) => <time dateTime={new Date(at * 1000).toISOString()}>{momentOf(at)}</time> },
          ...series.map((one, index) => ({
            title: one.title,
            cell: ({ values }: (typeof rows)[number]) => figure(values[index] ?? null, unit),
          })),
        ]}
      />
    </details>
  );
}

function figure(value: number | null, unit: string): string {
  return value === null ? '–' : `${value}${unit}`;
}
