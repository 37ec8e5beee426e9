//! Colours and spacing, dark and light, in one place.

use egui::{Color32, Context, CornerRadius, FontId, Margin, Stroke, TextStyle, Theme, Visuals, vec2};

use crate::engine::Kind;

/// Space between related things, in points.
pub const SPACE: f32 = 6.0;
/// Space between groups.
pub const GAP: f32 = 12.0;
/// Width of a field's label.
pub const LABEL_WIDTH: f32 = 92.0;
/// Side of a layer's thumbnail.
pub const THUMBNAIL: f32 = 56.0;
/// Height of a stacked-bar chart.
pub const BARS_HEIGHT: f32 = 136.0;
/// Height of a throughput chart.
pub const RATE_HEIGHT: f32 = 104.0;
/// The least width of a drive's card.
pub const CARD_WIDTH: f32 = 196.0;
/// Width of the project panel.
pub const PROJECT_WIDTH: f32 = 348.0;
/// Height that the previews keep, however much the charts need.
pub const PREVIEWS_HEIGHT: f32 = 262.0;
/// How much is left of what cannot be used now: less to see, and still to be read.
const DISABLED: f32 = 0.7;
/// Corner radius of cards and inputs.
const RADIUS: CornerRadius = CornerRadius::same(4);

/// The colours of one theme.
///
/// Read, write and compute are from Okabe and Ito's palette, which all common forms of colour
/// blindness can tell apart; fill and outline differ as well, so that grey prints work.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// Time a drive delivered, or the rate it did.
    pub read: Color32,
    /// Time the processor worked.
    pub compute: Color32,
    /// Time a drive took, or the rate it did.
    pub write: Color32,
    /// Time with nothing to do.
    pub wait: Color32,
    /// Something went wrong.
    pub error: Color32,
    /// Fill behind an error.
    pub error_fill: Color32,
    /// Something to know.
    pub warning: Color32,
    /// Done.
    pub success: Color32,
    /// The one button that matters, and progress.
    pub accent: Color32,
    /// Text on `accent`.
    pub on_accent: Color32,
    /// Fill of a card.
    pub card: Color32,
    /// Outline of a card.
    pub card_line: Color32,
    /// Text.
    text: Color32,
    /// Text of less weight.
    pub text_weak: Color32,
    panel: Color32,
    input: Color32,
    input_line: Color32,
    button: Color32,
    button_hovered: Color32,
    /// Fill of what is chosen, and text on it.
    selection: Color32,
    on_selection: Color32,
}

const DARK: Tokens = Tokens {
    read: Color32::from_rgb(86, 180, 233),
    compute: Color32::from_rgb(0, 178, 130),
    write: Color32::from_rgb(240, 150, 40),
    wait: Color32::from_rgb(150, 150, 158),
    error: Color32::from_rgb(255, 138, 128),
    error_fill: Color32::from_rgb(72, 28, 28),
    warning: Color32::from_rgb(245, 190, 90),
    success: Color32::from_rgb(96, 205, 140),
    accent: Color32::from_rgb(38, 112, 200),
    on_accent: Color32::WHITE,
    card: Color32::from_rgb(36, 38, 43),
    card_line: Color32::from_rgb(58, 61, 68),
    text: Color32::from_rgb(222, 224, 228),
    text_weak: Color32::from_rgb(160, 164, 172),
    panel: Color32::from_rgb(27, 28, 32),
    input: Color32::from_rgb(18, 19, 22),
    input_line: Color32::from_rgb(78, 82, 90),
    button: Color32::from_rgb(54, 57, 64),
    button_hovered: Color32::from_rgb(70, 74, 82),
    selection: Color32::from_rgb(36, 76, 123),
    on_selection: Color32::from_rgb(214, 232, 255),
};

const LIGHT: Tokens = Tokens {
    read: Color32::from_rgb(0, 114, 178),
    compute: Color32::from_rgb(0, 138, 100),
    write: Color32::from_rgb(196, 84, 0),
    wait: Color32::from_rgb(120, 120, 128),
    error: Color32::from_rgb(176, 20, 20),
    error_fill: Color32::from_rgb(255, 228, 226),
    warning: Color32::from_rgb(146, 92, 0),
    success: Color32::from_rgb(20, 122, 62),
    accent: Color32::from_rgb(28, 100, 188),
    on_accent: Color32::WHITE,
    card: Color32::from_rgb(255, 255, 255),
    card_line: Color32::from_rgb(208, 211, 217),
    text: Color32::from_rgb(32, 34, 38),
    text_weak: Color32::from_rgb(92, 96, 104),
    panel: Color32::from_rgb(243, 244, 246),
    input: Color32::from_rgb(255, 255, 255),
    input_line: Color32::from_rgb(164, 168, 176),
    button: Color32::from_rgb(224, 226, 231),
    button_hovered: Color32::from_rgb(208, 212, 219),
    selection: Color32::from_rgb(178, 207, 242),
    on_selection: Color32::from_rgb(8, 44, 92),
};

impl Tokens {
    /// The colour of a kind of work.
    #[must_use]
    pub const fn kind(&self, kind: Kind) -> Color32 {
        match kind {
            Kind::Read => self.read,
            Kind::Compute => self.compute,
            Kind::Write => self.write,
            Kind::Wait => self.wait,
        }
    }

    /// Fill and outline of a kind's bars: solid, pale, or hollow, so that colour is not the only sign.
    #[must_use]
    pub fn bar(&self, kind: Kind) -> (Color32, Stroke) {
        let color = self.kind(kind);
        let fill = match kind {
            Kind::Read | Kind::Compute => color,
            Kind::Write => color.gamma_multiply(0.45),
            Kind::Wait => Color32::TRANSPARENT,
        };
        (fill, Stroke::new(1.0, color))
    }

    /// The frame of a card.
    pub fn card_frame(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.card)
            .stroke(Stroke::new(1.0, self.card_line))
            .corner_radius(RADIUS)
            .inner_margin(Margin::same(8))
    }
}

/// The colours for what is drawn now.
#[must_use]
pub fn tokens(ui: &egui::Ui) -> &'static Tokens {
    if ui.visuals().dark_mode { &DARK } else { &LIGHT }
}

/// The colours for marks on pictures, which are dark in both themes.
#[must_use]
pub const fn on_pictures() -> &'static Tokens {
    &DARK
}

/// Sets both themes' styles; which one is used follows the system until the user picks one.
pub fn install(ctx: &Context) {
    for (theme, tokens, base) in
        [(Theme::Dark, &DARK, Visuals::dark()), (Theme::Light, &LIGHT, Visuals::light())]
    {
        ctx.set_visuals_of(theme, visuals(base, tokens));
    }
    ctx.all_styles_mut(|style| {
        style.text_styles.insert(TextStyle::Small, FontId::proportional(11.5));
        style.spacing.item_spacing = vec2(SPACE, SPACE);
        style.spacing.button_padding = vec2(8.0, 3.0);
        style.spacing.interact_size.y = 24.0;
        style.spacing.combo_width = 80.0;
        style.spacing.scroll = egui::style::ScrollStyle::solid();
        style.interaction.selectable_labels = false;
    });
}

fn visuals(mut visuals: Visuals, tokens: &Tokens) -> Visuals {
    visuals.panel_fill = tokens.panel;
    visuals.window_fill = tokens.card;
    visuals.window_stroke = Stroke::new(1.0, tokens.card_line);
    visuals.extreme_bg_color = tokens.input;
    visuals.error_fg_color = tokens.error;
    visuals.warn_fg_color = tokens.warning;
    visuals.weak_text_color = Some(tokens.text_weak);
    visuals.selection.bg_fill = tokens.selection;
    visuals.selection.stroke.color = tokens.on_selection;
    visuals.disabled_alpha = DISABLED;
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.fg_stroke.color = tokens.text;
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, tokens.card_line);
    widgets.inactive.fg_stroke.color = tokens.text;
    widgets.inactive.weak_bg_fill = tokens.button;
    widgets.inactive.bg_fill = tokens.button;
    widgets.inactive.bg_stroke = Stroke::new(1.0, tokens.input_line);
    widgets.hovered.weak_bg_fill = tokens.button_hovered;
    widgets.hovered.bg_fill = tokens.button_hovered;
    widgets.open.weak_bg_fill = tokens.button_hovered;
    for widget in [
        &mut widgets.noninteractive,
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
        &mut widgets.open,
    ] {
        widget.corner_radius = RADIUS;
    }
    visuals
}

#[cfg(test)]
mod tests {
    use egui::Rgba;

    use super::*;

    /// What is seen of a colour, with so much of it, over another.
    fn over(color: Color32, alpha: f32, under: Color32) -> Color32 {
        let mix = |top: u8, under: u8| alpha * f32::from(top) + (1.0 - alpha) * f32::from(under);
        let [r, g, b] = [0, 1, 2].map(|i| mix(color.to_array()[i], under.to_array()[i]));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of bytes")]
        let rgb = [r, g, b].map(|value| value.round() as u8);
        Color32::from_rgb(rgb[0], rgb[1], rgb[2])
    }

    /// The contrast of two colours, 1 to 21 (WCAG 2.2).
    fn contrast(one: Color32, other: Color32) -> f32 {
        let luminance = |color| {
            let linear = Rgba::from(color);
            0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
        };
        let [one, other] = [one, other].map(luminance);
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn the_contrast_of_known_colours_is_right() {
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 0.01);
        // A grey that is often named as the last to pass on white.
        assert!((contrast(Color32::from_rgb(118, 118, 118), Color32::WHITE) - 4.54).abs() < 0.01);
        assert_eq!(over(Color32::WHITE, 0.5, Color32::BLACK), Color32::from_rgb(128, 128, 128));
    }

    #[test]
    fn text_can_be_read_on_everything_it_stands_on() {
        for (name, tokens, base) in [("dark", &DARK, Visuals::dark()), ("light", &LIGHT, Visuals::light())] {
            let visuals = visuals(base, tokens);
            let faded = |color, under| over(color, visuals.disabled_alpha(), under);
            let (text, weak) = (visuals.text_color(), visuals.weak_text_color());
            let (panel, card, chosen) = (tokens.panel, tokens.card, visuals.selection.bg_fill);
            let button = visuals.widgets.inactive.weak_bg_fill;
            // A button that cannot be used is faded with its text.
            let disabled = faded(button, panel);
            let mut pairs = vec![
                ("a chosen tab", visuals.selection.stroke.color, chosen),
                ("a chosen row", visuals.strong_text_color(), chosen),
                ("a button", visuals.widgets.inactive.text_color(), button),
                ("a disabled button", faded(visuals.widgets.inactive.text_color(), disabled), disabled),
                ("the one button that matters", tokens.on_accent, tokens.accent),
                ("a field", text, tokens.input),
            ];
            for (on, ground) in [("a panel", panel), ("a card", card)] {
                let colors = [text, weak, tokens.error, tokens.warning, tokens.success];
                pairs.extend(colors.map(|color| (on, color, ground)));
                pairs.push((on, faded(text, ground), ground));
            }
            for (on, color, ground) in pairs {
                let contrast = contrast(color, ground);
                assert!(contrast >= 4.5, "{name}, on {on}: {contrast:.2} of {color:?} on {ground:?}");
            }
        }
    }
}
