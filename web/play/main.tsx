import { render } from 'preact';
import './play.css';
import { PlayPage } from './play-page.tsx';

const place = document.querySelector('#app');
if (place) render(<PlayPage />, place);
